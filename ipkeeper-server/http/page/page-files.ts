/** One file that the page consists of. */
export interface PageFile {
  readonly type: string
  readonly text: string
}

/** By the path that browsers ask for. */
export type PageFiles = Readonly<Record<string, PageFile>>

/** Put in by scripts/build-executables.ts, which bundles the folder client/. */
declare const IPKEEPER_PAGE: PageFiles | undefined

/** undefined when run from source. */
export const embeddedPage: PageFiles | undefined =
  typeof IPKEEPER_PAGE === 'undefined' ? undefined : IPKEEPER_PAGE
