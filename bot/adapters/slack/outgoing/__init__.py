"""Posts the bot's messages in Slack: mrkdwn and blocks, posted once or streamed, and replies to clicks."""
