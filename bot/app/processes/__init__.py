"""Running the bot in one or several processes: logins, shards, jobs, watchdog, crash reports, logs, readiness."""
