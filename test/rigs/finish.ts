/** Cleaning up in every way a process can end that lets it run any code at all. */

const undone = new Set<() => void>()
let watching = false

function runAll(): void {
  // The youngest first: what was made last stands on what was made before.
  for (const undo of [...undone].reverse()) {
    undone.delete(undo)
    try {
      undo()
    } catch (error) {
      console.error('cleaning up:', error)
    }
  }
}

/**
 * Registers a synchronous clean-up for the end of this process: its natural end, process.exit, SIGINT, SIGTERM and
 * SIGHUP. What must survive even SIGKILL cannot be done here; see private-host.ts.
 *
 * @returns a function that withdraws it, for when the clean-up has been done in the ordinary way
 */
export function atProcessEnd(undo: () => void): () => void {
  if (!watching) {
    watching = true
    process.on('exit', runAll)
    const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const
    for (const [signal, number] of Object.entries(numbers))
      process.once(signal, () => process.exit(128 + number))
  }
  undone.add(undo)
  return () => undone.delete(undo)
}
