"""What the bot says in Slack: its text as mrkdwn and blocks, posted once, streamed, or answered to a click."""
