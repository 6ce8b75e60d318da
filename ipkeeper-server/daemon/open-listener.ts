import type { OptionalPartName, OptionalParts } from '../host/optional-part.ts'
import type { ListenAddress } from '../host/listen-address.ts'

interface Listener {
  /** Throws while the address cannot be had. */
  listen(address: ListenAddress): Promise<void>
  close(): Promise<void>
}

/** Listens, as soon as the address can be had; resolves after the first try, to what ends it. */
export async function openListener(
  parts: OptionalParts,
  name: OptionalPartName,
  listener: Listener,
  address: ListenAddress,
): Promise<() => Promise<void>> {
  const part = parts.add({ name, begin: () => listener.listen(address) })
  await part.start()
  return async () => {
    await part.stop()
    await listener.close()
  }
}
