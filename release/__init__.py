"""What a release needs beside the program: a look at whether it is ready, and the repository of hooks."""
