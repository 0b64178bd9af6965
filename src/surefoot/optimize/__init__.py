"""The loop: spaces, histories, the pure suggestion step, ask/tell and minimize."""
