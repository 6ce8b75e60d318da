/** What is shown, as the part of the page's address behind "#". Absent: as the daemon has it first, or nothing. */
export interface Route {
  readonly pool?: string
  /** A block of the pool, in CIDR notation; absent: that around the address, or that of the pool's first range. */
  readonly within?: string
  readonly address?: string
}

/** undefined for what is no route, such as the target of a link within the page. */
export function parseRoute(hash: string): Route | undefined {
  if (hash === '' || hash === '#') return {}
  if (!hash.startsWith('#/')) return undefined
  const [path = '', query = ''] = hash.slice(2).split('?')
  const asked = new URLSearchParams(query)
  const [within, address] = [asked.get('within'), asked.get('address')]
  const pool = decode(path)
  return {
    ...(pool !== undefined && pool !== '' && { pool }),
    ...(within !== null && within !== '' && { within }),
    ...(address !== null && address !== '' && { address }),
  }
}

export function formatRoute({ pool = '', within, address }: Route): string {
  const query = [
    ...(within === undefined ? [] : [`within=${encodeURIComponent(within)}`]),
    ...(address === undefined ? [] : [`address=${encodeURIComponent(address)}`]),
  ].join('&')
  return `#/${encodeURIComponent(pool)}${query === '' ? '' : `?${query}`}`
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
