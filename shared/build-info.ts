/** Stamped by scripts/build-executables.ts; the sources themselves say "dev". */
declare const IPKEEPER_VERSION: string | undefined

/** Version of this build, such as "0.1.0"; "0.0.0-dev" when run from source. */
export const version: string = typeof IPKEEPER_VERSION === 'string' ? IPKEEPER_VERSION : '0.0.0-dev'
