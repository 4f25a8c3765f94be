"""What keeps processes running side by side: locks and leases of logins, shards, jobs, watchdog, logs, readiness."""
