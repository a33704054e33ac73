"""MongoDB's wire protocol as the runner's load needs it: requests, replies, and an event loop."""
