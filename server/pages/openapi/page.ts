// The page at /docs/ and its script: Swagger UI over the document of this server. It fetches nothing from elsewhere,
// and shows each view once, in its first spelling and by its GET: more would hide the one that people look for.

/** The page. Its addresses are relative, so that it works below the path of a base URL too. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Catalogue: API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="swagger-ui.css">
    <script src="swagger-ui-bundle.js" defer></script>
    <script src="docs.js" type="module"></script>
  </head>
  <body>
    <div id="docs"></div>
    <noscript>This page needs scripts. The document is at <a href="../openapi.json">openapi.json</a>.</noscript>
  </body>
</html>
`;

/**
 * Paths that refer to another one are the same view in another spelling or version. References of parameters that a
 * path shares are not followed by the package, so that they move to its method. Examples and defaults would be sent,
 * all of them at once, though some exclude others: only what has to be given keeps its own. Requests go to where the
 * page came from. A server that is asked for too much has no document for a moment: that is said.
 */
export const DOCS_SCRIPT = `const response = await fetch('../openapi.json');
if (response.ok) show(await response.json());
else tell(['openapi.json was answered with', response.status, response.statusText].join(' ').trim());

function tell(what) {
  const place = document.querySelector('#docs');
  place.setAttribute('role', 'alert');
  place.textContent = what + '. Load this page again in a moment to try it again.';
}

function show(spec) {
  for (const [path, item] of Object.entries(spec.paths)) {
    const { parameters, get } = item;
    if ('$ref' in item) delete spec.paths[path];
    else spec.paths[path] = { get: { ...get, parameters } };
    for (const parameter of parameters ?? []) if (!parameter.required) delete parameter.example;
  }
  for (const parameter of Object.values(spec.components.parameters)) {
    if (parameter.name === 'filters') parameter.example = {};
    else delete parameter.example;
    delete parameter.schema?.default;
  }
  spec.servers = [{ url: location.pathname.replace(/\\/docs\\/.*/, '') || '/' }];
  SwaggerUIBundle({
    spec,
    dom_id: '#docs',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
  });
}
`;
