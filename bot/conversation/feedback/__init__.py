"""What people say of answers, by emoji, buttons and words, and what they teach by it."""
