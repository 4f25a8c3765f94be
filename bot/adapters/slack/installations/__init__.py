"""Several Slack workspaces with one app: OAuth, stored tokens, and the messenger for all of them."""
