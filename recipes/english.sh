#!/bin/sh
# Makes the model `english`, from the files that english-facts.yaml names: about two hours on two cores, and the time of
# the teacher for 671,000 lines and of the second one for 220,000. Run it in a folder that has
# data/texts/*.gz, one text per line, and data/pairs/, named as in english.yaml.
set -eu
recipes=$(cd "$(dirname "$0")" && pwd)

# Trains on with the n-grams that there are, with neighbors and ten times the L2 penalty.
train_on() {
    charagram train --config "$recipes/english.yaml" --min-count 20 --max-per-order 1 --l2 1e-4 \
        --batch-size 250 --neighbor-batch-size 250 "$@"
}

python "$recipes/english_lines.py" data/lines.txt --texts data/texts/*.gz --pairs data/pairs/* --number 671000 \
    --words data/words.tsv --misspellings data/pairs/misspellings.tsv --misspelled "$recipes/misspelled.txt"
charagram train --config "$recipes/english.yaml" --out runs/whole
python "$recipes/prune.py" runs/whole runs/pruned --max-ngrams 72000 --count-power 0.35
for seed in 0 1 2 3; do
    train_on --init runs/pruned --out "runs/seed-$seed" --seed "$seed" --epochs 0.35 --learning-rate 0.0015
done
python "$recipes/average.py" runs/average runs/seed-0 runs/seed-1 runs/seed-2 runs/seed-3
cut -f 1 data/words.tsv > data/words.txt
python "$recipes/ship.py" runs/average english --words data/words.txt --facts "$recipes/english-facts.yaml" \
    --max-words 45000 --max-ngrams 60000 --count-power 0.35 --table-dtype int4 --to runs

# What came out is trained on four times more, slowly, with a second teacher.
head -n 220000 data/lines.txt > data/some-lines.txt
for seed in 0 1 2 3; do
    train_on --init runs/english --out "runs/again-$seed" --seed "$seed" --epochs 1 --learning-rate 0.0005 \
        --data data/some-lines.txt \
        --second-teacher sentence-transformers:sentence-transformers/all-mpnet-base-v2
done
python "$recipes/average.py" runs/again runs/again-0 runs/again-1 runs/again-2 runs/again-3
python "$recipes/ship.py" runs/again second --words data/words.txt --facts "$recipes/english-facts.yaml" \
    --max-words 45000 --max-ngrams 59250 --count-power 0.35 --table-dtype int4 --to runs

# And twice on each third of the lines. Fewer typing errors are needed, for now it corrects words.
for run in 0:1,220000 1:1,220000 4:220001,440000 5:220001,440000 8:440001,671000 9:440001,671000; do
    seed=${run%:*}
    sed -n "${run#*:}p" data/lines.txt > data/third.txt
    train_on --init runs/second --out "runs/third-$seed" --seed "$seed" --epochs 1 --learning-rate 0.0005 \
        --data data/third.txt --typos 0.1 --neighbors-weight 0.25
done
python "$recipes/average.py" runs/third runs/third-[0-9]
python "$recipes/ship.py" runs/third before --dictionary data/words.tsv --texts data/some-lines.txt \
    --facts "$recipes/english-facts.yaml" --max-ngrams 59000 --count-power 0.35 --table-dtype int4 --to runs

# One form of texts, vectors for unknown characters, no bias; accepted words of open lists stay as they are written.
python "$recipes/ship.py" runs/before form --fold --unknown-rows 512 --no-bias \
    --facts "$recipes/english-facts.yaml" --max-ngrams 56600 --count-power 0.35 --table-dtype int4 --to runs
python "$recipes/accepted_words.py" runs/form data/accepted-words.txt --misspellings data/pairs/misspellings.tsv \
    --headwords data/pairs/wordnet-word-gloss.tsv.gz data/pairs/wordset-word-gloss-not-in-wordnet.tsv.gz
python "$recipes/sureness.py" runs/form data/sureness.txt --misspellings data/pairs/misspellings.tsv \
    --headwords data/pairs/wordnet-word-gloss.tsv.gz data/pairs/wordset-word-gloss-not-in-wordnet.tsv.gz \
    --texts data/texts/tatoeba-english.txt.gz data/texts/wikipedia-newarticles.txt.gz data/texts/headlines-clickbait.txt.gz
python "$recipes/ship.py" runs/form english --accepted-words data/accepted-words.txt --sureness data/sureness.txt \
    --facts "$recipes/english-facts.yaml" --table-dtype int4
