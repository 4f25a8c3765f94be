"""Makes events of what people do in Slack: messages, reactions, buttons, forms, commands, App Home."""
