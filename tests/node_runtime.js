// Answers the golden calls of a SavedModel in Node: node node_runtime.js FOLDER prints JSON.
const util = require('util');
// tfjs-node 4.22.0 calls it, and Node 23 has removed it.
util.isNullOrUndefined ??= (value) => value === null || value === undefined;
const fs = require('fs');
const path = require('path');
const tf = require('@tensorflow/tfjs-node');

async function main(folder) {
  const golden = JSON.parse(fs.readFileSync(path.join(folder, 'assets.extra', 'golden.json')));
  const answers = [];
  for (const [signature, inputs] of golden) {
    const model = await tf.node.loadSavedModel(folder, ['serve'], signature);
    const tensors = {};
    for (const [name, texts] of Object.entries(inputs)) {
      // A character of the file is a byte of the text.
      const bytes = texts.map((text) => Uint8Array.from(Buffer.from(text, 'latin1')));
      tensors[name] = tf.tensor1d(bytes, 'string');
    }
    const outputs = {};
    for (const [name, tensor] of Object.entries(model.predict(tensors))) {
      outputs[name] = { shape: tensor.shape, values: Array.from(await tensor.data()) };
    }
    answers.push([signature, outputs]);
  }
  process.stdout.write(`\n${JSON.stringify(answers)}\n`);
}

main(process.argv[2]);
