"""What people do in Slack becomes events: messages, reactions, buttons, forms, commands, App Home."""
