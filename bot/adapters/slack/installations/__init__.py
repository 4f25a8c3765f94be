"""Several workspaces: who installed the app, where its tokens are kept, and the messenger for all of them."""
