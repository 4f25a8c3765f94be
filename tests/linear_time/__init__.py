"""Every kind of text that people, tools and models may send, grown long, against everything that reads it."""
