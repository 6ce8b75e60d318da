import type { Holder } from '../../ipkeeper-server/ipam/records/records.ts'

/** Pod shop/NAME on network "net", by its interface eth0. */
export const podHolder = (name: string): Holder => ({
  kind: 'pod',
  network: 'net',
  namespace: 'shop',
  name,
  ifname: 'eth0',
})
