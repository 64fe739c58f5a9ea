"use strict";
Scalar.createApiReference("#reference", {
  url: document.body.dataset.document,
  servers: [{url: location.origin}],
  defaultHttpClient: {targetKey: "shell", clientKey: "curl"},
  documentDownloadType: "json",
  defaultOpenAllTags: true,
  operationTitleSource: "summary",
  authentication: {preferredSecurityScheme: "bearer"},
  persistAuth: false,
  telemetry: false,
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: {disabled: true},
  mcp: {disabled: true},
});
