/** Pages stand in the folder "docs" of the sources; where they were installed, a path can be opened. */
export const documentPaths = (
  text: string,
  { documents }: { readonly documents?: string | undefined },
): string =>
  documents === undefined
    ? text
    : text.replace(/(?<![\w./:-])docs\/[\w-]+(?:\/[\w.-]+)*\.md\b/g, page => `${documents}/${page}`)
