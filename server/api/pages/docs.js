"use strict";
const {document: address, key, door, link, since, known, token} = document.body.dataset;
// For a reader who gets the test place's key, the examples succeed as they stand: they are about that place, and begin now.
const filled = (text) => {
  if (!key) return text;
  text = text.replaceAll("sact_exampleexampleexampleexample000000", key).replaceAll("dor_front", door);
  if (link) text = text.replaceAll("3q2-7wAA", link);
  const later = since - Date.UTC(2026, 9, 5, 1);
  return text.replace(/2026-10-05T[0-9:.]+Z/g, (old) => new Date(Date.parse(old) + later).toISOString());
};
// Scalar puts a parameter's default into its field.
const complete = (d) => {
  const values = key ? {...JSON.parse(known), "Idempotency-Key": crypto.randomUUID()} : {};
  const operations = Object.values(d.paths).flatMap((path) => Object.values(path));
  for (const p of [...Object.values(d.components.parameters ?? {}), ...operations.flatMap((o) => o.parameters ?? [])]) {
    if (p.required && values[p.name]) p.schema.default = values[p.name];
  }
  return d;
};
fetch(address).then((answer) => answer.text()).then((text) => Scalar.createApiReference("#reference", {
  content: complete(JSON.parse(filled(text))),
  servers: [{url: location.origin}],
  defaultHttpClient: {targetKey: "shell", clientKey: "curl"},
  documentDownloadType: "json",
  defaultOpenAllTags: true,
  operationTitleSource: "summary",
  authentication: {preferredSecurityScheme: "bearer", securitySchemes: {bearer: {token}}},
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: {disabled: true},
  mcp: {disabled: true},
}));
