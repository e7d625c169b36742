"""The parts of ``transfer_to_npu``; importing them changes nothing."""
