const sixOctets = /^(?:[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}|[0-9a-f]{4}(?:\.[0-9a-f]{4}){2})$/i

/** A unicast MAC address as lower-case "aa:bb:cc:dd:ee:ff", as Go's net.ParseMAC reads it; undefined for anything else, multicast and all-zero included. */
export function parseMac(text: string): string | undefined {
  if (!sixOctets.test(text)) return undefined
  const mac = withColons(text.toLowerCase().replace(/[^0-9a-f]/g, ''))
  const multicast = (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1
  return multicast || mac === '00:00:00:00:00:00' ? undefined : mac
}

/** Hexadecimal digits in pairs: "0a580a16" to "0a:58:0a:16". */
export const withColons = (digits: string): string => digits.replace(/..(?=.)/g, '$&:')
