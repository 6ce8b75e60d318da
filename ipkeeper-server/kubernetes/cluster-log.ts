/** What this folder needs of a logger; pino's has it. */
export interface ClusterLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
