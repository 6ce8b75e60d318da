/* The bytecode as a part of the executable; PLUGIN_BYTECODE is the path of what compile.c wrote. */
    .section .rodata
    .balign 16
    .global plugin_bytecode
    .global plugin_bytecode_end
plugin_bytecode:
    .incbin PLUGIN_BYTECODE
plugin_bytecode_end:
    .section .note.GNU-stack, "", %progbits
