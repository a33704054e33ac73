"""The one shape of every complaint: a finding, the rules it can break, how it is reported, what is accepted already."""
