// As app/edge/route.js of docs/NODE.md, with the package that servers have, too.

import { Snowflake } from 'leafid'

export const runtime = 'edge'

export async function POST() {
  const flake = await Snowflake.open()
  await flake.ready()
  return Response.json({ id: flake.nextString() })
}
