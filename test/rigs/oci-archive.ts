import { createHash } from 'node:crypto'
import { writeTar, type ArchiveFile } from './tar-archive.ts'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

export interface ArchivedImage {
  /** Its name in the store, such as `localhost/pause:1`. */
  readonly name: string
  readonly entrypoint: readonly string[]
  /** Uncompressed archives, the lowest first; images may share some. */
  readonly layers: readonly Uint8Array[]
}

/** An archive of images in the OCI layout, for `ctr image import`. */
export function ociArchive(images: readonly ArchivedImage[]): Buffer {
  const blobs = new Map<string, ArchiveFile>()
  const add = (mediaType: string, content: Uint8Array): Descriptor => {
    const hash = createHash('sha256').update(content).digest('hex')
    const name = `blobs/sha256/${hash}`
    blobs.set(name, { name, mode: 0o644, content })
    return { mediaType, digest: `sha256:${hash}`, size: content.length }
  }
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
  const manifestType = 'application/vnd.oci.image.manifest.v1+json'
  const manifests = images.map(image => {
    const layers = image.layers.map(layer => add('application/vnd.oci.image.layer.v1.tar', layer))
    const config = add(
      'application/vnd.oci.image.config.v1+json',
      json({
        architecture: process.arch === 'x64' ? 'amd64' : process.arch,
        os: 'linux',
        config: { Entrypoint: image.entrypoint },
        // An uncompressed layer has the same digest packed and unpacked.
        rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
      }),
    )
    const manifest = add(manifestType, json({ schemaVersion: 2, mediaType: manifestType, config, layers }))
    return { ...manifest, annotations: { 'io.containerd.image.name': image.name } }
  })
  return writeTar([
    { name: 'oci-layout', mode: 0o644, content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', mode: 0o644, content: json({ schemaVersion: 2, manifests }) },
    ...blobs.values(),
  ])
}
