"""Side-by-side measurements against other libraries; not tests."""
