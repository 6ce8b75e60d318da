/** Stamped by scripts/build-executables.ts; the sources themselves say "dev". */
declare const IPKEEPER_VERSION: string | undefined
declare const IPKEEPER_COMMIT: string | undefined

/** Version of this build, such as "0.1.0"; "0.0.0-dev" when run from source. */
export const version: string = typeof IPKEEPER_VERSION === 'string' ? IPKEEPER_VERSION : '0.0.0-dev'

/** Commit that this was built from, twelve digits, with "-dirty" when the sources were changed since; or "unknown". */
export const commit: string = typeof IPKEEPER_COMMIT === 'string' ? IPKEEPER_COMMIT : 'unknown'

/** "0.1.0 (commit 2c26b46b68ff)": what --version prints behind the name. */
export const versionText = `${version} (commit ${commit})`
