"""The JSON Schemas of comments, pipelines and result documents, and what is checked against them."""
