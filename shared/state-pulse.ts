/**
 * A file system may hang: one that is frozen, or whose disk is away. Who writes there then waits in the kernel, and cannot be
 * ended before it goes on. So the daemon says with each reply to the plugin, by this header, whether a write to the state
 * folder has just come back; the plugin writes there itself only then.
 */
export const statePulse = {
  header: 'ipkeeper-state-folder',
  value: 'takes-writes',
  /** For how long the plugin believes that the next write comes back, from the daemon's word or a write by another process. */
  freshForMs: 250,
  /** How old the daemon's own last write may be when it says so. */
  saidForMs: 50,
} as const
