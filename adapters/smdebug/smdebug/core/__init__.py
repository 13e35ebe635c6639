"""The parts of which the package is made; programs import them from here, too."""
