/**
 * A program that waits for ever, as bytes: what keeps a pod's sandbox alive. Written out here so that no compiler and
 * no image from elsewhere is needed: one ELF header, one program header, three or eight instructions.
 */

interface Machine {
  /** e_machine of the ELF header. */
  readonly elf: number
  readonly code: Buffer
}

const words = (...instructions: readonly number[]): Buffer => {
  const code = Buffer.alloc(instructions.length * 4)
  instructions.forEach((instruction, index) => code.writeUInt32LE(instruction, index * 4))
  return code
}

const machines: Readonly<Record<string, Machine>> = {
  // again: mov eax, 34 (pause); syscall; jmp again
  x64: { elf: 62, code: Buffer.from('b8220000000f05ebf7', 'hex') },
  // again: mov x8, 73 (ppoll); mov x0..x4, 0; svc 0; b again. This architecture has no pause call.
  arm64: {
    elf: 183,
    code: words(
      0xd2800928,
      0xd2800000,
      0xd2800001,
      0xd2800002,
      0xd2800003,
      0xd2800004,
      0xd4000001,
      0x17fffff9,
    ),
  },
}

const loadAddress = 0x400000n
const headerSize = 64
const programHeaderSize = 56

/** The static executable for an architecture as Node names it. */
export function pauseProgram(architecture: string = process.arch): Buffer {
  const machine = machines[architecture]
  if (machine === undefined) throw new Error(`no pause program for ${architecture}`)
  const start = headerSize + programHeaderSize
  const size = BigInt(start + machine.code.length)

  const header = Buffer.alloc(headerSize)
  // Magic, 64 bit, little-endian, version 1.
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16) // ET_EXEC
  header.writeUInt16LE(machine.elf, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(loadAddress + BigInt(start), 24) // entry
  header.writeBigUInt64LE(BigInt(headerSize), 32) // program headers
  header.writeUInt16LE(headerSize, 52)
  header.writeUInt16LE(programHeaderSize, 54)
  header.writeUInt16LE(1, 56)

  const segment = Buffer.alloc(programHeaderSize)
  segment.writeUInt32LE(1, 0) // PT_LOAD
  segment.writeUInt32LE(5, 4) // readable, executable
  segment.writeBigUInt64LE(loadAddress, 16)
  segment.writeBigUInt64LE(loadAddress, 24)
  segment.writeBigUInt64LE(size, 32)
  segment.writeBigUInt64LE(size, 40)
  segment.writeBigUInt64LE(0x1000n, 48)
  return Buffer.concat([header, segment, machine.code])
}
