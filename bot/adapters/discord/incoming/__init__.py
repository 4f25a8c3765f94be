"""Makes events of what people do on Discord: messages, reactions, buttons, forms, commands. Also has look-ups."""
