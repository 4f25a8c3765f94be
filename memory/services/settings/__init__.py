"""Use cases of settings: settings changed in chat, listening, and the control arm of runs without lessons."""
