// libgraph.so builds graphs. Programs are linked with it; it exports nothing yet.
