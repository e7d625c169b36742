// libacl_tdt_channel.so moves tensors between host and device queues. Programs are linked with it; it exports nothing
// yet.
