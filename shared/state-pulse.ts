/**
 * A file system may hang: one that is frozen, or whose disk is away. Who writes there then waits in the kernel, and cannot be
 * ended before it goes on. So the daemon says with each reply to the plugin, by this header, whether a write to the state
 * folder has just come back; the plugin writes there itself only then.
 */
export const statePulse = {
  header: 'ipkeeper-state-folder',
  value: 'takes-writes',
  /** For how long a write that has come back says that the next one will. */
  freshForMs: 250,
} as const
