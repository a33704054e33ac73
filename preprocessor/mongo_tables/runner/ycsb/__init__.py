"""What YCSB's core workloads define: keys, records, and how records are chosen."""
