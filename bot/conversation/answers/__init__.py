"""From an accepted message to its delivered answer: queues, the run, what is shown meanwhile, what is asked back."""
