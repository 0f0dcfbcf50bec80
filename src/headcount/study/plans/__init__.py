"""Plans that come with the library."""
