// libge_runner.so runs graphs. Programs are linked with it; it exports nothing yet.
