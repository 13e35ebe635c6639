"""A profile as frames of Pandas, and what is computed from them."""
