// libhccl.so runs collective operations over devices. Programs are linked with it; it exports nothing yet.
