import { createHash } from 'node:crypto'
import { pauseProgram } from './pause-program.ts'
import { writeTar, type ArchiveFile } from './tar-archive.ts'

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

/**
 * An image archive in the OCI layout, for `ctr image import`: one layer with the one static program.
 *
 * @param name the image's name in the store, such as `localhost/pause:1`
 */
export function pauseImage(name: string): Buffer {
  const blobs: ArchiveFile[] = []
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const hash = createHash('sha256').update(content).digest('hex')
    blobs.push({ name: `blobs/sha256/${hash}`, mode: 0o644, content })
    return { mediaType, digest: `sha256:${hash}`, size: content.length }
  }
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

  const layer = writeTar([{ name: 'pause', mode: 0o755, content: pauseProgram() }])
  const layerAt = add('application/vnd.oci.image.layer.v1.tar', layer)
  const configAt = add(
    'application/vnd.oci.image.config.v1+json',
    json({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Entrypoint: ['/pause'] },
      // An uncompressed layer has the same digest packed and unpacked.
      rootfs: { type: 'layers', diff_ids: [layerAt.digest] },
    }),
  )
  const manifestType = 'application/vnd.oci.image.manifest.v1+json'
  const manifestAt = add(
    manifestType,
    json({ schemaVersion: 2, mediaType: manifestType, config: configAt, layers: [layerAt] }),
  )
  const index = {
    schemaVersion: 2,
    manifests: [{ ...manifestAt, annotations: { 'io.containerd.image.name': name } }],
  }
  return writeTar([
    { name: 'oci-layout', mode: 0o644, content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', mode: 0o644, content: json(index) },
    ...blobs,
  ])
}
