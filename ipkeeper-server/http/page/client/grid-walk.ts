/** Where a key leads in a grid, as people know it from the pattern "grid" of WAI-ARIA; undefined for any other key. */
export function walkGrid(
  { key, ctrlKey }: { readonly key: string; readonly ctrlKey: boolean },
  index: number,
  { columns, count }: { readonly columns: number; readonly count: number },
): number | undefined {
  const rowStart = index - (index % columns)
  const rowEnd = Math.min(rowStart + columns, count) - 1
  const within = (next: number): number => (next >= 0 && next < count ? next : index)
  switch (key) {
    case 'ArrowRight':
      return within(index + 1)
    case 'ArrowLeft':
      return within(index - 1)
    case 'ArrowDown':
      return within(index + columns)
    case 'ArrowUp':
      return within(index - columns)
    case 'PageDown':
      return Math.min(index + 4 * columns, count - 1 - ((count - 1 - index) % columns))
    case 'PageUp':
      return Math.max(index - 4 * columns, index % columns)
    case 'Home':
      return ctrlKey ? 0 : rowStart
    case 'End':
      return ctrlKey ? count - 1 : rowEnd
    default:
      return undefined
  }
}
