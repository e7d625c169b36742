// libhccl.so joins devices in collective operations. Programs are linked with it; it exports nothing yet.
