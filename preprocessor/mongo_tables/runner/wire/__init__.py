"""MongoDB's wire protocol as the runner's load needs it: requests, replies, and the loop that waits for both."""
