// Sends a file with its progress, which fetch cannot tell.
import type { Schemas } from "../../api/client";
import { Problem } from "../../api/problem";
import { t } from "../../messages/composer";

export function upload(workspaceId: string, file: File, onProgress: (percent: number) => void): Promise<Schemas["MediaUploaded"]> {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/v1/workspaces/${encodeURIComponent(workspaceId)}/media`);
    request.setRequestHeader("x-cadenza-csrf", "1");
    request.responseType = "json";
    request.upload.onprogress = (event) => event.lengthComputable && onProgress((event.loaded / event.total) * 100);
    request.onerror = () => failed(new Problem(0, "offline", t("cantReachTheServerTheFile")));
    request.onload = () => {
      if (request.status < 300) done(request.response as Schemas["MediaUploaded"]);
      else failed(Problem.read(request.status, request.response));
    };
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}
