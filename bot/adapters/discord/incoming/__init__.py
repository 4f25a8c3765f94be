"""What people do on Discord becomes events: messages, reactions, buttons, forms, commands, and look-ups about them."""
