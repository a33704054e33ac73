"""``mongo-tables render``: ``command`` declares and renders, ``inplace`` writes into the pages themselves."""
